// What the benches use of packages that only `npm --prefix bench ci` installs: the types are checked without them.
declare module 'fastest-levenshtein' {
  export function distance(a: string, b: string): number
}
