# Time the peers' fits of one table of categories: clmm (ordinal), glmmTMB with REML and glmer (binary).
#
#   Rscript benchmarks/families.R TABLE.json PROGRAM
#
# TABLE: {worker, item, x, y (from 0), link}. Prints JSON: {"seconds": CPU of one fit, "effect", "criterion"}.

suppressPackageStartupMessages(library(jsonlite))
arguments <- commandArgs(trailingOnly = TRUE)
table <- fromJSON(arguments[1])
program <- arguments[2]
data <- data.frame(worker = factor(table$worker), item = factor(table$item), x = table$x, y = table$y)
if (program == "clmm") data$y <- factor(data$y, ordered = TRUE)
formula <- y ~ x + (1 | worker) + (0 + x | worker) + (1 | item) + (0 + x | item)
family <- binomial(table$link)
fits <- list(
  clmm = function() ordinal::clmm(formula, data = data, link = table$link),
  glmmTMB = function() glmmTMB::glmmTMB(formula, data, family = family, REML = TRUE),
  glmer = function() lme4::glmer(formula, data, family = family)
)
invisible(loadNamespace(c(clmm = "ordinal", glmmTMB = "glmmTMB", glmer = "lme4")[[program]]))
model <- NULL
spent <- system.time(model <- suppressMessages(suppressWarnings(fits[[program]]())), gcFirst = FALSE)
effect <- switch(program,
  clmm = coef(model)[["x"]], glmmTMB = glmmTMB::fixef(model)$cond[["x"]], glmer = lme4::fixef(model)[["x"]]
)
cat(toJSON(list(
  seconds = spent[["user.self"]] + spent[["sys.self"]], effect = effect,
  criterion = -2 * as.numeric(logLik(model))
), auto_unbox = TRUE, digits = NA))
