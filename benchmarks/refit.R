# Time lme4's refit on several responses to one design.
#
#   Rscript benchmarks/refit.R STUDY.json
#
# STUDY.json: {"worker": [...], "item": [...], "system": [0 or 1, ...], "responses": [[...], ...], "reml": true}
# The first response is fitted by lmer(); each further one is timed as refit(), lme4's short way to fit
# another response to the same design. Defaults throughout, as in the simulation loops that people run.
# Prints JSON: {"lmer": seconds, "refit": [seconds, ...], "effect": [...], "standard_error": [...]}.

suppressPackageStartupMessages({
  library(jsonlite)
  library(lme4)
})

study <- fromJSON(commandArgs(trailingOnly = TRUE)[1], simplifyMatrix = TRUE)
data <- data.frame(
  worker = factor(study$worker), item = factor(study$item), x = study$system - 0.5,
  rating = study$responses[1, ]
)
quiet <- function(expr) suppressMessages(suppressWarnings(expr))
seconds <- function(expr) system.time(expr, gcFirst = FALSE)[["elapsed"]]

first <- NULL
lmer_seconds <- seconds(first <- quiet(lmer(
  rating ~ x + (1 | worker) + (0 + x | worker) + (1 | item) + (0 + x | item), data, REML = study$reml
)))
fits <- lapply(seq_len(nrow(study$responses))[-1], function(row) {
  again <- NULL
  taken <- seconds(again <- quiet(refit(first, study$responses[row, ])))
  c(seconds = taken, effect = unname(fixef(again)["x"]),
    standard_error = sqrt(as.matrix(vcov(again))["x", "x"]))
})
table <- do.call(rbind, fits)
cat(toJSON(list(
  lmer = unbox(lmer_seconds), refit = table[, "seconds"],
  effect = table[, "effect"], standard_error = table[, "standard_error"]
), digits = NA))
