import { RATE_PERIODS } from '../../base/constants.ts'
import { count, t } from '../../i18n/index.ts'

export const LIFETIMES = ['1d', '7d', '30d', '90d', '365d'] as const

/** `60/min` in words. */
export function rateText(rate: string): string {
  const [number, unit] = rate.split('/')
  const period = RATE_PERIODS.find((one) => one === unit)
  return period === undefined ? rate : t(`admin.rate.${period}`, { n: count(Number(number)) })
}
