/** Why a file could not be fetched, or a list imported, in Spanish. */
export class ListFault extends Error {}

export const WEB_PAGE = 'Es una página web'
export const tooLarge = (maxBytes: number) =>
  `Tiene más de ${Number((maxBytes / (1024 * 1024)).toFixed(2))} MiB`
