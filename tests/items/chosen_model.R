# The rating model with effects of strata by lme4, and the system's test by pbkrtest (Kenward and Roger).
suppressMessages({library(lme4); library(pbkrtest)})
d <- read.csv(commandArgs(TRUE)[1])
d$x <- d$system - 0.5
full <- lmer(rating ~ x * (z1 + z2 + f) + (1 | worker) + (0 + x | worker) + (1 | item) + (0 + x | item), d,
             control = lmerControl(optimizer = "bobyqa", optCtrl = list(rhoend = 1e-10)))
less <- update(full, . ~ . - x)
adjusted <- vcovAdj(full)
test <- getKR(KRmodcomp(full, less), "ddf")
cat(sprintf("%.10f", c(fixef(full)["x"], sqrt(adjusted["x", "x"]), test)), sep = "\n")
