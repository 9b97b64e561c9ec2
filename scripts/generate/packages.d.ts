/** What is used of the packages in this folder, which are not installed everywhere. */
declare module 'subset-font' {
  interface Options {
    readonly targetFormat: 'woff2'
    /** OpenType features that stay. */
    readonly keepFeatures: readonly string[]
  }
  export default function subsetFont(font: Buffer, text: string, options: Options): Promise<Buffer>
}

declare module 'assemblyscript/asc' {
  interface Host {
    readonly readFile: (file: string) => Promise<string | null>
    readonly writeFile: (file: string, contents: string | Uint8Array) => void
    readonly listFiles: () => string[]
  }
  const asc: { main(args: readonly string[], host: Host): Promise<{ readonly error: Error | null }> }
  export default asc
}

declare module '@zxcvbn-ts/language-es-es' {
  export const dictionary: { readonly 'commonWords-es-es': readonly string[] }
}

declare module '@zxcvbn-ts/language-en' {
  export const dictionary: { readonly 'commonWords-en': readonly string[] }
}
