# Fit several systems together with lme4, lmerTest and pbkrtest, as exactly as these can.
#
#   Rscript tests/oracles/many_systems_oracle.R INPUT.json OUTPUT.json
#
# INPUT:  {"datasets": [{"name", "worker": [...], "item": [...], "system": [0, 1, ...], "rating": [...]}, ...]}
# OUTPUT: {"versions": {...}, "results": [{"name", "criterion", "means", the five SDs, "rows": [...]}, ...]}
#
# `rows` has one entry for each mean (second = null) and each pair (second - first): estimate, standard error,
# Satterthwaite's df, Kenward and Roger's standard error and df. The search runs from several starts with
# several optimisers and is polished, as lme4's own stopping rule leaves SDs right to three digits.

suppressPackageStartupMessages({
  library(jsonlite)
  library(lme4)
  library(lmerTest)
  library(pbkrtest)
})

KENWARD_ROGER_LIMIT <- 2500 # pbkrtest forms dense matrices of N x N
MODEL <- rating ~ 0 + system + (1 | worker) + (1 | worker:system) + (1 | item) + (1 | item:system)
GROUPS <- c(sd_worker = "worker", sd_worker_system = "worker:system", sd_item = "item",
            sd_item_system = "item:system")

thorough <- function(fn, par, lower, upper, control) {
  quiet <- function(theta) suppressWarnings(fn(theta))
  p <- length(par)
  starts <- c(list(rep(1, p), rep(0.1, p), rep(0.01, p)),
              lapply(seq_len(p), function(j) replace(rep(0.5, p), j, 0)))
  ends <- lapply(starts, function(start) {
    minqa::bobyqa(start, quiet, lower = lower, control = list(rhobeg = 0.2, rhoend = 1e-7, maxfun = 5000))$par
  })
  best <- ends[[which.min(vapply(ends, quiet, numeric(1)))]]
  for (radius in c(1e-1, 1e-2, 1e-3, 1e-5)) {
    scale <- pmax(best, 0.05)
    found <- minqa::bobyqa(best / scale, function(u) quiet(u * scale), lower = lower,
                           control = list(rhobeg = radius, rhoend = 1e-12, maxfun = 5000))$par * scale
    if (quiet(found) <= quiet(best)) best <- found
  }
  # A relative SD this small is an exact zero if the criterion is not higher there.
  for (j in which(best < 1e-3)) {
    at_zero <- replace(best, j, 0)
    if (quiet(at_zero) <= quiet(best) + 1e-9) best <- at_zero
  }
  list(par = best, fval = quiet(best), conv = 0, convergence = 0, message = "several starts")
}

CONTROL <- lmerControl(
  optimizer = "thorough", calc.derivs = FALSE, restart_edge = FALSE,
  check.nobs.vs.nlev = "ignore", check.nobs.vs.rankZ = "ignore", check.nobs.vs.nRE = "ignore",
  check.nlev.gtr.1 = "ignore", check.conv.singular = "ignore"
)

or_missing <- function(expr) tryCatch(expr, error = function(e) NA_real_)

fit_dataset <- function(dataset) {
  data <- data.frame(
    worker = factor(unlist(dataset$worker)), item = factor(unlist(dataset$item)),
    system = factor(unlist(dataset$system)), rating = as.numeric(unlist(dataset$rating))
  )
  fitted <- suppressMessages(suppressWarnings(lmerTest::lmer(MODEL, data, REML = TRUE, control = CONTROL)))
  K <- nlevels(data$system)
  adjusted <- if (nrow(data) < KENWARD_ROGER_LIMIT) or_missing(vcovAdj(fitted)) else NA_real_
  pairs <- utils::combn(K, 2, simplify = FALSE)
  row <- function(first, second) {
    contrast <- rep(0, K)
    contrast[if (is.na(second)) first else second] <- 1
    if (!is.na(second)) contrast[first] <- -1
    kr <- is.matrix(adjusted) || is(adjusted, "Matrix")
    list(
      first = first - 1, second = if (is.na(second)) NA else second - 1,
      estimate = sum(contrast * fixef(fitted)),
      standard_error = sqrt(as.numeric(contrast %*% as.matrix(vcov(fitted)) %*% contrast)),
      df_satterthwaite = or_missing(suppressMessages(contest1D(fitted, contrast)[["df"]])),
      standard_error_adjusted = if (kr) sqrt(as.numeric(contrast %*% as.matrix(adjusted) %*% contrast)) else NA,
      df_kenward_roger = if (kr) or_missing(Lb_ddf(contrast, vcov(fitted), adjusted)) else NA
    )
  }
  table <- as.data.frame(VarCorr(fitted))
  sds <- lapply(GROUPS, function(name) table$sdcor[table$grp == name])
  message(dataset$name)
  c(
    list(name = dataset$name, criterion = as.numeric(REMLcrit(fitted))), sds,
    list(sd_residual = sigma(fitted),
         rows = c(lapply(seq_len(K), row, NA), lapply(pairs, function(pair) row(pair[1], pair[2]))))
  )
}

versions <- c(
  list(R = paste(R.version$major, R.version$minor, sep = ".")),
  sapply(c("lme4", "lmerTest", "pbkrtest", "minqa"),
         function(name) as.character(packageVersion(name)), simplify = FALSE)
)

paths <- commandArgs(trailingOnly = TRUE)
if (length(paths) != 2) stop("usage: Rscript many_systems_oracle.R INPUT.json OUTPUT.json")
answer <- list(versions = versions, results = lapply(read_json(paths[1])$datasets, fit_dataset))
write_json(answer, paths[2], auto_unbox = TRUE, digits = NA, na = "null", null = "null")
