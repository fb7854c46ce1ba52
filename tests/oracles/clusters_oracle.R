# CR2, Bell-McCaffrey df and CR1 of means of clustered values, by clubSandwich.
#   Rscript tests/oracles/clusters_oracle.R tests/golden/clustered_means.json
suppressMessages({library(clubSandwich); library(jsonlite)})
path <- commandArgs(trailingOnly = TRUE)[1]
layouts <- list(
  equal = rep(5, 8), two = c(4, 6), singletons = rep(1, 12), dominant = c(200, rep(20, 9)),
  unequal = c(1, 1, 2, 3, 5, 8, 13, 21), alike = rep(4, 5)
)
set.seed(21)
cases <- lapply(names(layouts), function(name) {
  sizes <- layouts[[name]]
  cluster <- rep(seq_along(sizes), sizes)
  values <- round(rnorm(length(cluster)) + rnorm(length(sizes))[cluster], 3)
  if (name == "alike") values <- round(rnorm(length(sizes))[cluster], 3)  # nothing varies within clusters
  fit <- lm(values ~ 1)
  robust <- coef_test(fit, vcov = vcovCR(fit, cluster = cluster, type = "CR2"), test = "Satterthwaite")
  list(
    name = name, clusters = cluster, values = values, estimate = robust$beta, cr2 = robust$SE,
    df = robust$df_Satt, p_value = robust$p_Satt,
    cr1 = sqrt(vcovCR(fit, cluster = cluster, type = "CR1")[1, 1])
  )
})
meta <- list(
  command = "Rscript tests/oracles/clusters_oracle.R tests/golden/clustered_means.json",
  R = R.version.string, clubSandwich = as.character(packageVersion("clubSandwich"))
)
write(toJSON(list(meta = meta, cases = cases), auto_unbox = TRUE, digits = 15, pretty = FALSE), path)
