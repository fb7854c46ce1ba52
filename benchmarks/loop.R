# Time the loop that power analyses by simulation are usually written as: draw ratings from a fitted
# model, fit the whole model again with lmer(), read lmerTest's p value. It is the loop that simr's
# documentation describes, written out with lmerTest, because simr is not packaged for Debian.
#
#   Rscript benchmarks/loop.R STUDY.json REPLICATES
#
# Prints JSON: {"seconds": [one for each replicate], "p_value": [...]}.

suppressPackageStartupMessages({
  library(jsonlite)
  library(lmerTest)
})

arguments <- commandArgs(trailingOnly = TRUE)
study <- fromJSON(arguments[1], simplifyMatrix = TRUE)
replicates <- as.integer(arguments[2])
model <- rating ~ x + (1 | worker) + (0 + x | worker) + (1 | item) + (0 + x | item)
data <- data.frame(
  worker = factor(study$worker), item = factor(study$item), x = study$system - 0.5,
  rating = study$responses[1, ]
)
quiet <- function(expr) suppressMessages(suppressWarnings(expr))
generator <- quiet(lmer(model, data, REML = study$reml))

one <- function(seed) {
  p_value <- NA
  taken <- system.time({
    data$rating <- simulate(generator, nsim = 1, seed = seed)[[1]]
    fitted <- quiet(lmer(model, data, REML = study$reml))
    p_value <- quiet(summary(fitted))$coefficients["x", "Pr(>|t|)"]
  }, gcFirst = FALSE)[["elapsed"]]
  c(taken, p_value)
}
table <- do.call(rbind, lapply(seq_len(replicates), one))
cat(toJSON(list(seconds = table[, 1], p_value = table[, 2]), digits = NA))
