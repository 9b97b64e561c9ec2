/** What presets and watermarks may be called: nothing that means something in a link by itself. */
export const isName = (text: string): boolean => /^[a-z0-9][a-z0-9-]{0,31}$/.test(text)

export const NAME_TAKES = 'up to 32 of a to z, 0 to 9 and hyphens, the first one no hyphen'
