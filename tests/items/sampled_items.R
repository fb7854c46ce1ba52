# Means of items drawn from a pool by the package survey: the mean and its standard error.
suppressMessages(library(survey))
d <- read.csv(commandArgs(TRUE)[1])
design <- if (all(d$stratum == 0)) {
  svydesign(ids = ~1, probs = ~probability, data = d)
} else {
  svydesign(ids = ~1, strata = ~stratum, fpc = ~size, data = d)
}
m <- svymean(~value, design)
cat(sprintf("%.12f", c(coef(m), SE(m))), sep = "\n")
