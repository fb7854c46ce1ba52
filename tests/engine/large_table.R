# REML fit of a large table by lme4: criterion, effect, its standard error, and SDs.
suppressMessages(library(lme4))
d <- read.csv(commandArgs(TRUE)[1])
d$x <- d$system - 0.5
m <- lmer(rating ~ x + (1 | worker) + (0 + x | worker) + (1 | item) + (0 + x | item), d,
          control = lmerControl(calc.derivs = FALSE))
v <- as.data.frame(VarCorr(m))
sd <- setNames(v$sdcor, paste(sub("[.].*", "", v$grp), v$var1))
wanted <- c("worker (Intercept)", "worker x", "item (Intercept)", "item x", "Residual NA")
cat(sprintf("%.10f", c(REMLcrit(m), fixef(m)[2], sqrt(vcov(m)[2, 2]), sd[wanted])), sep = "\n")
