# Runs the scripts whose paths arrive on standard input. Each starts with what R itself attaches and without
# variables, as in a process of its own; packages stay in memory.
local({
  attached <- search()
  scripts <- file("stdin", "r")
  while (length(path <- readLines(scripts, n = 1)) > 0) {
    setwd(dirname(path))
    tryCatch(source(basename(path), print.eval = TRUE),
      error = function(e) cat("\nFAILED", conditionMessage(e)))
    rm(list = ls(globalenv(), all.names = TRUE), envir = globalenv())
    for (name in setdiff(search(), attached)) detach(name, character.only = TRUE, force = TRUE)
    cat("\nENDED\n")
  }
})
