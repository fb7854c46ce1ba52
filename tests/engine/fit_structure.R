# Fits tables with documents, covariates and correlations: lme4, lmerTest, pbkrtest.
suppressMessages({library(lme4); library(lmerTest); library(pbkrtest); library(jsonlite)})
given <- commandArgs(trailingOnly = TRUE)
asked <- fromJSON(given[1], simplifyVector = TRUE)
# The default search stops too early: several starts, then the best polished.
search <- function(fn, par, lower, upper, control) {
  run <- function(start, rho) minqa::bobyqa(start, fn, lower, upper, control = list(rhobeg = rho, rhoend = 1e-9, maxfun = 2e4))
  ends <- lapply(c(1, 0.2), function(at) run(ifelse(lower == 0, at, 0), 0.15))
  best <- ends[[which.min(sapply(ends, function(end) end$fval))]]
  best <- run(best$par, 1e-3)
  for (j in which(lower == 0 & best$par < 1e-3)) {
    at <- replace(best$par, j, 0); if (fn(at) <= fn(best$par) + 1e-9) best$par <- at
  }
  list(par = best$par, value = fn(best$par), fval = fn(best$par), conv = 0, message = "")
}
answer <- lapply(seq_along(asked$file), function(k) {
  rows <- read.csv(asked$file[k])
  for (name in c("worker", "item", "text")) if (name %in% names(rows)) rows[[name]] <- factor(rows[[name]])
  control <- lmerControl(optimizer = search, restart_edge = FALSE, check.conv.singular = "ignore",
                         check.conv.grad = "ignore", check.conv.hess = "ignore")
  model <- suppressMessages(lmerTest::lmer(as.formula(asked$formula[k]), rows, control = control))
  adjusted <- vcovAdj(model)
  table <- summary(model)$coefficients
  df <- sapply(seq_len(nrow(table)), function(j) Lb_ddf(as.numeric(seq_len(nrow(table)) == j), vcov(model), adjusted))
  list(criterion = REMLcrit(model), names = rownames(table), estimate = table[, 1], se = table[, 2],
       satterthwaite = table[, 3], adjusted = sqrt(diag(as.matrix(adjusted))), df = df)
})
writeLines(toJSON(answer, digits = 15, auto_unbox = TRUE), given[2])
