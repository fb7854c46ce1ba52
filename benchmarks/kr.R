# Time pbkrtest's Kenward-Roger test of the effect, the fit itself not counted.
# The fit is tighter than lme4's default, so that df and standard error can be compared.
#
#   Rscript benchmarks/kr.R STUDY.json
#
# Prints JSON: {"seconds": one test, "df": ..., "standard_error": adjusted}.

suppressPackageStartupMessages({
  library(jsonlite)
  library(lme4)
  library(pbkrtest)
})

study <- fromJSON(commandArgs(trailingOnly = TRUE)[1], simplifyMatrix = TRUE)
data <- data.frame(
  worker = factor(study$worker), item = factor(study$item), x = study$system - 0.5,
  rating = study$responses[1, ]
)
quiet <- function(expr) suppressMessages(suppressWarnings(expr))
full <- quiet(lmer(
  rating ~ x + (1 | worker) + (0 + x | worker) + (1 | item) + (0 + x | item), data, REML = TRUE,
  control = lmerControl(optimizer = "bobyqa", optCtrl = list(rhobeg = 0.05, rhoend = 1e-10, maxfun = 1e4))
))
test <- NULL
seconds <- system.time(test <- KRmodcomp(full, matrix(c(0, 1), nrow = 1)), gcFirst = FALSE)[["elapsed"]]
adjusted <- sqrt(as.numeric(vcovAdj(full)[2, 2]))
cat(toJSON(list(
  seconds = unbox(seconds), df = unbox(getKR(test, "ddf")), standard_error = unbox(adjusted)
), digits = NA))
