/** What is used of a package without types. */
declare module 'subset-font' {
  interface Options {
    readonly targetFormat: 'woff2'
    /** OpenType features that stay. */
    readonly keepFeatures: readonly string[]
  }
  export default function subsetFont(font: Buffer, text: string, options: Options): Promise<Buffer>
}
