// Types for packages that only `npm --prefix bench ci` installs, so that type checks work without them.
declare module 'fastest-levenshtein' {
  export function distance(a: string, b: string): number
}
