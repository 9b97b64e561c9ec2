import { t } from '../i18n/index.ts'
import type { Left } from './records.ts'

/** `6 d 23 h`, `23 h 5 min`, `5 min`. */
export function leftText({ days, hours, minutes }: Left): string {
  if (days > 0) return t('left.days', { d: days, h: hours })
  return hours > 0 ? t('left.hours', { h: hours, m: minutes }) : t('left.minutes', { m: minutes })
}
