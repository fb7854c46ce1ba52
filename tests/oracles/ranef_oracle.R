# Predicted random effects with their conditional SDs, by lme4.
#
#   Rscript tests/oracles/ranef_oracle.R tests/golden/random_designs.json tests/golden/ranef.json
#
# OUTPUT: for each of a few designs of the input lme4's own standard deviations, and ranef and condsd of every
# worker and item at these, so that the comparison does not depend on where an optimiser stops. Levels
# are in the order of their codes.

suppressPackageStartupMessages({
  library(jsonlite)
  library(lme4)
})

NUMBERS <- c("09", "29", "45", "17") # tiny and singular; sparse; incomplete; split
MODEL <- rating ~ x + (1 | worker) + (0 + x | worker) + (1 | item) + (0 + x | item)
CONTROL <- lmerControl(
  check.nobs.vs.nlev = "ignore", check.nobs.vs.rankZ = "ignore", check.nobs.vs.nRE = "ignore",
  check.nlev.gtr.1 = "ignore", check.conv.singular = "ignore"
)

predictions <- function(effects, group, term) {
  rows <- effects[effects$grpvar == group & effects$term == term, ]
  rows <- rows[order(as.integer(as.character(rows$grp))), ]
  list(value = rows$condval, error = rows$condsd)
}

one <- function(dataset) {
  data <- data.frame(
    worker = factor(unlist(dataset$worker)), item = factor(unlist(dataset$item)),
    x = as.numeric(unlist(dataset$system)) - 0.5, rating = as.numeric(unlist(dataset$rating))
  )
  model <- suppressMessages(suppressWarnings(lmer(MODEL, data, REML = TRUE, control = CONTROL)))
  effects <- as.data.frame(ranef(model, condVar = TRUE))
  table <- as.data.frame(VarCorr(model))
  group <- sub("\\.[0-9]+$", "", table$grp)
  sd_of <- function(noun, term) table$sdcor[which(group == noun & table$var1 == term)]
  list(
    name = dataset$name,
    sd_worker_intercept = sd_of("worker", "(Intercept)"), sd_worker_slope = sd_of("worker", "x"),
    sd_item_intercept = sd_of("item", "(Intercept)"), sd_item_slope = sd_of("item", "x"),
    sd_residual = sigma(model), baseline = unname(fixef(model)[1]), effect = unname(fixef(model)[2]),
    worker_intercept = predictions(effects, "worker", "(Intercept)"),
    worker_slope = predictions(effects, "worker", "x"),
    item_intercept = predictions(effects, "item", "(Intercept)"),
    item_slope = predictions(effects, "item", "x"),
    residual = unname(residuals(model))
  )
}

paths <- commandArgs(trailingOnly = TRUE)
if (length(paths) != 2) stop("usage: Rscript ranef_oracle.R INPUT.json OUTPUT.json")
datasets <- Filter(function(d) substr(d$name, 1, 2) %in% NUMBERS, read_json(paths[1])$comparisons)
meta <- list(
  command = "Rscript tests/oracles/ranef_oracle.R tests/golden/random_designs.json tests/golden/ranef.json",
  R = paste(R.version$major, R.version$minor, sep = "."), lme4 = as.character(packageVersion("lme4"))
)
write_json(list(meta = meta, designs = lapply(datasets, one)), paths[2], auto_unbox = TRUE, digits = 10)
