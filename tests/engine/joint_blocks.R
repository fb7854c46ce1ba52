# A joint fit of all systems of a table (worker, item, system, rating): criterion, SDs and standard error of the
# difference of the first two systems, as JSON.
suppressPackageStartupMessages(library(lme4))
table <- read.csv(commandArgs(TRUE)[1])
for (name in c("worker", "item", "system")) table[[name]] <- factor(table[[name]])
fit <- lmer(rating ~ 0 + system + (1 | worker) + (1 | worker:system) + (1 | item) + (1 | item:system), table,
            control = lmerControl(calc.derivs = FALSE))
sds <- as.data.frame(VarCorr(fit))
known <- vcov(fit)
found <- c(REMLcrit(fit), sqrt(known[1, 1] + known[2, 2] - 2 * known[1, 2]))
of <- c("worker", "worker:system", "item", "item:system", "Residual")
cat("[", paste(format(c(found, sds$sdcor[match(of, sds$grp)]), digits = 15), collapse = ", "), "]")
