import type { ServiceName } from '../api/session.ts'
import { t } from '../i18n/index.ts'
import '../i18n/texts/sign-in.ts'

/** Reports that the key of a service is no longer valid. */
export default function RejectedKey({ service }: { service: ServiceName }) {
  return (
    <p className="callout danger" role="alert">
      {t('sign.revoked', { service: t(`service.${service}`) })}
    </p>
  )
}
