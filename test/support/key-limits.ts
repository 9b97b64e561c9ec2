import { UNLIMITED, type KeyLimits, type Rate } from '../../src/http/auth/key-limits.ts'

/** Limits of a key where the test says nothing else. */
export const limited = (limits: Partial<KeyLimits>): KeyLimits => ({ ...UNLIMITED, ...limits })

export const perMinute = (count: number): Rate => ({ count, periodMs: 60_000 })

export const EXPIRED = { status: 401, msg: 'La clave de API expiró' }
export const OUT_OF_SCOPE = { status: 403, msg: 'La clave de API no permite esta operación' }
export const OVER_RATE = { status: 429, msg: 'Demasiadas solicitudes' }
