# Fit the rating model with lme4, lmerTest and pbkrtest, as exactly as these can.
#
#   Rscript tests/oracles/fit_oracle.R INPUT.json OUTPUT.json
#
# INPUT:  {"datasets": [{"name": ..., "worker": [...], "item": [...], "system": [0 or 1, ...],
#                        "rating": [...]}, ...]}     system 0 is A (x = -1/2), system 1 is B (x = +1/2)
# OUTPUT: {"versions": {...}, "results": [{"name": ..., "reml": {...}, "ml": {...}}, ...]}
#
# A number that a package could not give is null, and `messages` says why.
# lme4's default stopping rule leaves the criterion up to 1e-4 above its minimum, and a search from one
# start can end in another basin: several optimisers run from several starts, and the lowest value wins.

suppressPackageStartupMessages({
  library(jsonlite)
  library(lme4)
  library(lmerTest)
  library(pbkrtest)
})

KENWARD_ROGER_LIMIT <- 3000 # pbkrtest forms dense matrices of N x N
SAME_OPTIMUM <- 1e-6

MODEL <- rating ~ x + (1 | worker) + (0 + x | worker) + (1 | item) + (0 + x | item)

# lme4 orders the terms by number of levels: look each component up by its name.
COMPONENTS <- list(
  sd_worker_intercept = c("worker", "(Intercept)"),
  sd_worker_slope = c("worker", "x"),
  sd_item_intercept = c("item", "(Intercept)"),
  sd_item_slope = c("item", "x")
)

starts <- function(p) {
  grid <- list(rep(1, p), rep(0.1, p), rep(10, p), rep(0.01, p))
  one_large <- lapply(seq_len(p), function(j) replace(rep(0.05, p), j, 2))
  one_zero <- lapply(seq_len(p), function(j) replace(rep(0.5, p), j, 0))
  c(grid, one_large, one_zero)
}

coarse <- function(fn, start, lower) {
  searches <- list(
    function() minqa::bobyqa(start, fn, lower = lower, control = list(rhobeg = 0.2, rhoend = 1e-7, maxfun = 5000)),
    function() nloptwrap(par = start, fn = fn, lower = lower, upper = rep(Inf, length(start)),
                         control = list(xtol_abs = 1e-10, ftol_abs = 1e-12, maxeval = 5000)),
    function() nlminbwrap(par = start, fn = fn, lower = lower, upper = rep(Inf, length(start)),
                          control = list(rel.tol = 1e-13, x.tol = 1e-10, eval.max = 5000, iter.max = 1000))
  )
  found <- lapply(searches, function(search) tryCatch(search()$par, error = function(e) NULL))
  Filter(function(par) !is.null(par) && all(is.finite(par)), found)
}

polish <- function(fn, par, lower) {
  for (radius in c(1e-1, 1e-2, 1e-3, 1e-5)) {
    scale <- pmax(par, 0.05) # steps in proportion: relative SDs range from 0 to 100
    scaled <- function(u) fn(u * scale)
    control <- list(rhobeg = radius, rhoend = 1e-12, maxfun = 5000)
    next_par <- tryCatch(minqa::bobyqa(par / scale, scaled, lower = lower, control = control)$par * scale,
                         error = function(e) par)
    if (fn(next_par) <= fn(par)) par <- next_par
  }
  # A relative SD this small is an exact zero if the criterion is not higher there.
  for (j in which(par < 1e-3)) {
    at_zero <- replace(par, j, 0)
    if (fn(at_zero) <= fn(par) + 1e-9) par <- at_zero
  }
  par
}

# An optimiser as lme4 wants it; `trace` receives how its searches ended.
trace <- new.env()
thorough <- function(fn, par, lower, upper, control) {
  quiet <- function(theta) suppressWarnings(fn(theta))
  ends <- unlist(lapply(starts(length(par)), function(start) coarse(quiet, start, lower)), recursive = FALSE)
  values <- vapply(ends, quiet, numeric(1))
  best <- polish(quiet, ends[[which.min(values)]], lower)
  trace$optima <- distinct(c(quiet(best), values))
  list(par = best, fval = quiet(best), conv = 0, convergence = 0, message = "several starts")
}

# How the searches ended, for the record: the share that stopped above the lowest value.
distinct <- function(values) {
  best <- min(values)
  list(searches = length(values) - 1L, above_best = sum(values > best + SAME_OPTIMUM),
       worst_excess = max(values) - best)
}

CONTROL <- lmerControl(
  optimizer = "thorough", calc.derivs = FALSE, restart_edge = FALSE,
  check.nobs.vs.nlev = "ignore", check.nobs.vs.rankZ = "ignore", check.nobs.vs.nRE = "ignore",
  check.nlev.gtr.1 = "ignore", check.conv.singular = "ignore"
)

attempt <- function(result, name, expr) {
  tryCatch(
    list(result = expr, message = NULL),
    error = function(e) list(result = result, message = paste0(name, ": ", conditionMessage(e)))
  )
}

satterthwaite <- function(model) {
  summary(model, ddf = "Satterthwaite")$coefficients["x", "df"]
}

kenward_roger <- function(model) {
  contrast <- c(0, 1)
  adjusted <- vcovAdj(model)
  list(se = sqrt(as.numeric(adjusted[2, 2])), df = Lb_ddf(contrast, vcov(model), adjusted))
}

standard_deviations <- function(model) {
  table <- as.data.frame(VarCorr(model))
  group <- sub("\\.[0-9]+$", "", table$grp)
  lapply(COMPONENTS, function(key) table$sdcor[which(group == key[1] & table$var1 == key[2])])
}

fit_one <- function(data, reml) {
  model <- lmerTest::lmer(MODEL, data, REML = reml, control = CONTROL)
  optima <- trace$optima
  sds <- standard_deviations(model)
  satt <- attempt(NA_real_, "Satterthwaite", satterthwaite(model))
  messages <- satt$message
  result <- c(
    list(
      criterion = as.numeric(if (reml) REMLcrit(model) else deviance(model)),
      baseline = unname(fixef(model)["(Intercept)"]),
      effect = unname(fixef(model)["x"]),
      standard_error = sqrt(as.matrix(vcov(model))["x", "x"])
    ),
    sds,
    list(
      sd_residual = sigma(model),
      df_satterthwaite = satt$result,
      boundary = as.list(names(Filter(function(sd) sd == 0, sds))),
      is_singular = isSingular(model)
    )
  )
  if (reml) {
    kr <- list(result = list(se = NA_real_, df = NA_real_),
               message = sprintf("Kenward-Roger: left out from %d ratings on", KENWARD_ROGER_LIMIT))
    if (nrow(data) < KENWARD_ROGER_LIMIT) kr <- attempt(kr$result, "Kenward-Roger", kenward_roger(model))
    result$standard_error_adjusted <- kr$result$se
    result$df_kenward_roger <- kr$result$df
    messages <- c(messages, kr$message)
  }
  result$searches <- optima
  result$messages <- as.list(messages)
  result
}

fit_dataset <- function(dataset) {
  data <- data.frame(
    worker = factor(unlist(dataset$worker)), item = factor(unlist(dataset$item)),
    x = as.numeric(unlist(dataset$system)) - 0.5, rating = as.numeric(unlist(dataset$rating))
  )
  started <- proc.time()[["elapsed"]]
  failed <- function(e) list(criterion = NA_real_, messages = list(conditionMessage(e)))
  fits <- lapply(list(reml = TRUE, ml = FALSE), function(reml) {
    tryCatch(suppressMessages(suppressWarnings(fit_one(data, reml))), error = failed)
  })
  seconds <- proc.time()[["elapsed"]] - started
  message(sprintf("%-36s %6d ratings %7.1f s", dataset$name, nrow(data), seconds))
  c(list(name = dataset$name), fits)
}

versions <- c(
  list(R = paste(R.version$major, R.version$minor, sep = ".")),
  sapply(c("lme4", "lmerTest", "pbkrtest", "minqa", "nloptr"),
         function(name) as.character(packageVersion(name)), simplify = FALSE)
)

paths <- commandArgs(trailingOnly = TRUE)
if (length(paths) != 2) stop("usage: Rscript fit_oracle.R INPUT.json OUTPUT.json")
datasets <- read_json(paths[1])$datasets
answer <- list(versions = versions, results = lapply(datasets, fit_dataset))
write_json(answer, paths[2], auto_unbox = TRUE, digits = NA, na = "null", null = "null")
