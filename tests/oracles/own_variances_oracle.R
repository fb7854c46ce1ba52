# Fit several systems together with a variance for each, with lme4 and pbkrtest.
#
#   Rscript tests/oracles/own_variances_oracle.R INPUT.csv OUTPUT.json
#
# INPUT: worker, item, system (0, 1, ...), rating. lme4 takes a variance for each system as independent terms of
# the systems' indicators. The search is polished from several starts, as lme4's own stopping rule leaves SDs right
# to three digits. OUTPUT: criterion, SDs by term, and SE, Kenward and Roger's SE and df of each pair.

suppressPackageStartupMessages({
  library(jsonlite)
  library(lme4)
  library(pbkrtest)
})

paths <- commandArgs(trailingOnly = TRUE)
data <- read.csv(paths[1])
K <- max(data$system) + 1
for (k in seq_len(K)) data[[paste0("s", k)]] <- as.numeric(data$system == k - 1)
own <- function(group) c(paste0("(1 | ", group, ")"), paste0("(0 + s", seq_len(K), " | ", group, ")"))
model <- as.formula(paste("rating ~ 0 + factor(system) +", paste(c(own("worker"), own("item")), collapse = " + ")))

thorough <- function(fn, par, lower, upper, control) {
  quiet <- function(theta) suppressWarnings(fn(theta))
  p <- length(par)
  ends <- lapply(list(rep(1, p), rep(0.1, p), rep(0.4, p)), function(start) {
    minqa::bobyqa(start, quiet, lower = lower, control = list(rhobeg = 0.2, rhoend = 1e-7, maxfun = 8000))$par
  })
  best <- ends[[which.min(vapply(ends, quiet, numeric(1)))]]
  for (radius in c(1e-1, 1e-2, 1e-4)) {
    found <- minqa::bobyqa(best, quiet, lower = lower,
                           control = list(rhobeg = radius, rhoend = 1e-10, maxfun = 8000))$par
    if (quiet(found) <= quiet(best)) best <- found
  }
  for (j in which(best < 1e-3)) { # this small is an exact zero if the criterion is not higher there
    at_zero <- replace(best, j, 0)
    if (quiet(at_zero) <= quiet(best) + 1e-9) best <- at_zero
  }
  list(par = best, fval = quiet(best), conv = 0, convergence = 0, message = "several starts")
}

fitted <- suppressMessages(suppressWarnings(lmer(model, data, REML = TRUE, control = lmerControl(
  optimizer = "thorough", calc.derivs = FALSE, restart_edge = FALSE, check.conv.singular = "ignore"
))))
adjusted <- vcovAdj(fitted)
pairs <- lapply(utils::combn(K, 2, simplify = FALSE), function(pair) {
  contrast <- replace(rep(0, K), pair, c(-1, 1))
  list(
    estimate = sum(contrast * fixef(fitted)),
    standard_error = sqrt(as.numeric(contrast %*% as.matrix(vcov(fitted)) %*% contrast)),
    standard_error_adjusted = sqrt(as.numeric(contrast %*% as.matrix(adjusted) %*% contrast)),
    df_kenward_roger = Lb_ddf(contrast, vcov(fitted), adjusted)
  )
})
sds <- as.data.frame(VarCorr(fitted))
write_json(
  list(criterion = as.numeric(REMLcrit(fitted)), pairs = pairs,
       sds = setNames(as.list(sds$sdcor), paste(sub("[.][0-9]+$", "", sds$grp), ifelse(is.na(sds$var1), "", sds$var1)))),
  paths[2], auto_unbox = TRUE, digits = NA, na = "null"
)
