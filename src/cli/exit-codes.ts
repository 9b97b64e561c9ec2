/** Exit codes beyond 0 and 1 that a supervisor may act upon. */

/** Wrong words on the command line. */
export const USAGE = 2
/** Wrong settings (EX_CONFIG of sysexits.h): starting again does not help. */
export const WRONG_SETTINGS = 78
