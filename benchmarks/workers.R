# Time lme4 on one large table of two systems.
#
#   Rscript benchmarks/workers.R RATINGS.csv
#
# RATINGS.csv: worker, item, system (0 or 1), rating. The derivatives after the search, which only check it,
# are left out. Prints JSON: processor seconds of lmer(), the effect, its standard error and the SDs.

suppressPackageStartupMessages({
  library(jsonlite)
  library(lme4)
})

data <- read.csv(commandArgs(trailingOnly = TRUE)[1])
data$worker <- factor(data$worker)
data$item <- factor(data$item)
data$x <- data$system - 0.5
model <- rating ~ x + (1 | worker) + (0 + x | worker) + (1 | item) + (0 + x | item)
fitted <- NULL
taken <- system.time(fitted <- suppressMessages(suppressWarnings(
  lmer(model, data, control = lmerControl(calc.derivs = FALSE))
)))
terms <- as.data.frame(VarCorr(fitted))
named <- setNames(terms$sdcor, paste(sub("\\..*", "", terms$grp), terms$var1))
cat(toJSON(list(
  seconds = unbox(taken[["user.self"]] + taken[["sys.self"]]),
  effect = unbox(unname(fixef(fitted)["x"])),
  standard_error = unbox(sqrt(as.matrix(vcov(fitted))["x", "x"])),
  deviations = unname(named[c("worker (Intercept)", "worker x", "item (Intercept)", "item x", "Residual NA")])
), digits = NA))
