import { t } from '../i18n/index.ts'

/** What went wrong, in the service's own words where it gave some. */
export const faultText = (error: unknown): string =>
  error instanceof Error && error.message !== '' ? error.message : t('app.lost')
