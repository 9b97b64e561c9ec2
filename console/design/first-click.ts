import type { MouseEvent } from 'react'

/**
 * Returns a click handler that ignores further clicks of a double click: they would revert the first one, or hit what
 * took the place of its target.
 */
export const onFirstClick =
  (act: () => void) =>
  ({ detail }: MouseEvent): void => {
    if (detail < 2) act()
  }
