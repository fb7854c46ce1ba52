# Fit tables of categories by glmmTMB (restricted Laplace), glmer and clmm (Laplace maximum likelihood).
#
#   Rscript tests/oracles/latent_oracle.R IN.json OUT.json
#
# IN: list of tables {worker, item, x, y (from 0), categories, link}. OUT: for each, the programs' criterion
# (-2 log likelihood), effect, its standard error, SDs of worker (1, x) and item (1, x), and CPU seconds.

suppressPackageStartupMessages(library(jsonlite))
paths <- commandArgs(trailingOnly = TRUE)
tables <- fromJSON(paths[1], simplifyDataFrame = FALSE)
terms <- "~ x + (1 | worker) + (0 + x | worker) + (1 | item) + (0 + x | item)"

timed <- function(fitted) {
  model <- NULL
  seconds <- system.time(model <- suppressMessages(suppressWarnings(fitted())), gcFirst = FALSE)
  list(model = model, seconds = seconds[["user.self"]] + seconds[["sys.self"]])
}
answer <- function(run, effect, sds) {
  list(
    criterion = -2 * as.numeric(logLik(run$model)), seconds = run$seconds,
    effect = effect[[1]], standard_error = effect[[2]], sd = sds
  )
}
binary <- function(data, link) {
  formula <- as.formula(paste("y", terms))
  restricted <- timed(function() glmmTMB::glmmTMB(formula, data, family = binomial(link), REML = TRUE))
  plain <- timed(function() glmmTMB::glmmTMB(formula, data, family = binomial(link), REML = FALSE))
  likely <- timed(function() {
    lme4::glmer(formula, data, family = binomial(link), control = lme4::glmerControl(optimizer = "bobyqa"))
  })
  deviations <- function(parts) unname(unlist(lapply(parts, function(part) attr(part, "stddev"))))
  list(
    glmmTMB = answer(
      restricted, summary(restricted$model)$coefficients$cond["x", 1:2],
      deviations(glmmTMB::VarCorr(restricted$model)$cond)
    ),
    glmmTMB_ml = answer(
      plain, summary(plain$model)$coefficients$cond["x", 1:2],
      deviations(glmmTMB::VarCorr(plain$model)$cond)
    ),
    glmer = answer(likely, coef(summary(likely$model))["x", 1:2], deviations(lme4::VarCorr(likely$model)))
  )
}
ordinal <- function(data, link) {
  data$y <- factor(data$y, ordered = TRUE)
  formula <- as.formula(paste("y", terms))
  run <- timed(function() ordinal::clmm(formula, data = data, link = link))
  sds <- unname(unlist(lapply(ordinal::VarCorr(run$model), function(part) attr(part, "stddev"))))
  found <- answer(run, coef(summary(run$model))["x", 1:2], sds)
  found$thresholds <- unname(run$model$alpha)
  list(clmm = found)
}
results <- lapply(tables, function(table) {
  data <- data.frame(worker = factor(table$worker), item = factor(table$item), x = table$x, y = table$y)
  if (table$categories == 2) binary(data, table$link) else ordinal(data, table$link)
})
versions <- lapply(c(glmmTMB = "glmmTMB", lme4 = "lme4", ordinal = "ordinal"), function(name) {
  as.character(packageVersion(name))
})
write(toJSON(list(versions = versions, results = results), auto_unbox = TRUE, digits = NA), paths[2])
