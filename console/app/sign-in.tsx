import { rejectedService } from '../api/session.ts'
import { t } from '../i18n/index.ts'
import '../i18n/texts/sign-in.ts'
import KeyForm from './key-form.tsx'
import { Logo } from './logo.tsx'
import { Preferences } from './preferences.tsx'
import { useStore } from './store.ts'

export default function SignIn() {
  const lost = useStore(rejectedService)
  return (
    <main className="sign-in">
      <section className="sign-card stack">
        <Logo />
        <h1>{t('sign.title')}</h1>
        {lost !== undefined && (
          <p className="callout danger" role="alert">
            {t('sign.revoked', { service: t(`service.${lost}`) })}
          </p>
        )}
        <p className="muted">{t('sign.text')}</p>
        <KeyForm />
      </section>
      <Preferences />
    </main>
  )
}
