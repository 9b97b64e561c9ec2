/**
 * Who work is done for: the service itself, an account (of any address, or of one), an address without a key, or all addresses
 * without a key together. Limits and turns are per client.
 */
export type Client =
  'service' | 'unauthenticated' | `account ${number}` | `account ${number} at ${string}` | `address ${string}`

/** @param id undefined for the service itself */
export const accountClient = (id: number | undefined): Client =>
  id === undefined ? 'service' : `account ${id}`

/** @param account undefined without a key */
export const requestClient = (account: number | undefined, address: string): Client =>
  account === undefined ? `address ${address}` : `account ${account} at ${address}`

/** Whether this is an address without a key, of which anyone can have many. */
export const isAddress = (client: Client): boolean => client.startsWith('address ')

/** Who waits for a result. */
export interface Caller {
  readonly client: Client
  /** Aborts when the caller has left. */
  readonly signal: AbortSignal
}

/** The service itself, which never leaves. */
export const SERVICE: Caller = { client: 'service', signal: new AbortController().signal }

/** Returns the account of a client that uses its key; addresses without a key are one group. */
export const getGroup = (client: Client): string =>
  isAddress(client) ? 'unauthenticated' : (client.split(' at ', 1)[0] ?? client)
