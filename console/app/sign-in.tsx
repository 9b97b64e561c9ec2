import { refused } from '../api/session.ts'
import { t } from '../i18n/index.ts'
import '../i18n/texts/signing.ts'
import KeyForm from './key-form.tsx'
import { Mark } from './mark.tsx'
import { Choices } from './preferences.tsx'
import { useStore } from './store.ts'

export default function SignIn() {
  const lost = useStore(refused)
  return (
    <main className="sign-in">
      <section className="sign-card stack">
        <Mark />
        <h1>{t('sign.title')}</h1>
        {lost !== undefined && (
          <p className="callout danger" role="alert">
            {t('sign.revoked', { service: t(`service.${lost}`) })}
          </p>
        )}
        <p className="muted">{t('sign.text')}</p>
        <KeyForm />
      </section>
      <Choices />
    </main>
  )
}
