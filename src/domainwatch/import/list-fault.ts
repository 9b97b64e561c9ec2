/** Why a list could not be fetched or imported, in Spanish. */
export class ListFault extends Error {}

export const WEB_PAGE = 'Es una página web en vez de una lista'
export const tooLarge = (maxBytes: number) =>
  `La lista tiene más de ${Math.floor(maxBytes / (1024 * 1024))} MiB`
