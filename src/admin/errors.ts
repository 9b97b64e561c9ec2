import { declareErrors } from '../lib/errors.ts'

/** Errors of the admin API. Clients rely on codes: one is never renamed, and `docs/api` lists them all. */
export const adminErrors = declareErrors({
  account_not_found: [404, 'La cuenta no existe'],
  account_of_other_service: [
    409,
    (account: string, service: string) => `La cuenta ${account} es del servicio ${service}`,
  ],
  key_not_found: [404, 'La clave no existe'],
})
