"""From the cells of a table to codes and numbers, with every problem named by its row."""
