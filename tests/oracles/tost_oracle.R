# Two one-sided tests of equivalence on data/pilot.csv with lme4, lmerTest and pbkrtest.
#
#   Rscript tests/oracles/tost_oracle.R data/pilot.csv tests/golden/tost.json
#
# Ratings of 1 to 5 on [0, 1]; x = -1/2 for 'baseline' (A), +1/2 for 'new' (B).

suppressPackageStartupMessages({
  library(jsonlite)
  library(lme4)
  library(lmerTest)
  library(pbkrtest)
})

arguments <- commandArgs(trailingOnly = TRUE)
table <- read.csv(arguments[1])
table$y <- (table$rating - 1) / 4
table$x <- ifelse(table$system == "new", 0.5, -0.5)
control <- lmerControl(optimizer = "bobyqa", optCtrl = list(rhobeg = 0.1, rhoend = 1e-10, maxfun = 50000))
fit <- lmerTest::lmer(y ~ x + (1 | worker) + (0 + x | worker) + (1 | item) + (0 + x | item), table, control = control)

row <- c(0, 1)
estimate <- unname(fixef(fit)[2])
adjusted <- vcovAdj(fit)
references <- list(
  "kenward-roger" = c(se = sqrt(adjusted[2, 2]), df = Lb_ddf(row, vcov(fit), adjusted)),
  "satterthwaite" = c(se = sqrt(as.matrix(vcov(fit))[2, 2]), df = unname(contest1D(fit, row)[["df"]]))
)

two_one_sided <- function(reference, margin, alpha) {
  se <- reference[["se"]]
  df <- reference[["df"]]
  reach <- qt(1 - alpha, df) * se
  list(
    margin = margin, alpha = alpha, estimate = estimate, standard_error = se, df = df,
    p_above_lower = pt((estimate + margin) / se, df, lower.tail = FALSE),
    p_below_upper = pt((estimate - margin) / se, df),
    interval = estimate + c(-1, 1) * reach
  )
}

cases <- list()
for (name in names(references)) for (margin in c(0.05, 0.15, 0.25)) for (alpha in c(0.05, 0.025)) {
  cases[[length(cases) + 1]] <- c(list(df_name = name), two_one_sided(references[[name]], margin, alpha))
}
versions <- c(R = as.character(getRversion()), sapply(c("lme4", "lmerTest", "pbkrtest"), function(p) as.character(packageVersion(p))))
write_json(list(command = "Rscript tests/oracles/tost_oracle.R data/pilot.csv tests/golden/tost.json",
                versions = as.list(versions), cases = cases),
           arguments[2], auto_unbox = TRUE, digits = 15, pretty = TRUE)
