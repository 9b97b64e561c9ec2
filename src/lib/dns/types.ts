/** Codes of the record types that can be queried (RFC 1035, 3596, 8659). */
export const TYPE_CODES = { a: 1, ns: 2, soa: 6, mx: 15, txt: 16, aaaa: 28, caa: 257 } as const

export type QueryType = keyof typeof TYPE_CODES
