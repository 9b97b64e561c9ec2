import { rejectedService } from '../api/session.ts'
import { t } from '../i18n/index.ts'
import '../i18n/texts/sign-in.ts'
import KeyForm from './key-form.tsx'
import { Logo } from './logo.tsx'
import { Preferences } from './session-menu.tsx'
import RejectedKey from './rejected-key.tsx'
import { useStore } from '../base/store.ts'

export default function SignIn() {
  const lost = useStore(rejectedService)
  return (
    <main className="sign-in">
      <section className="sign-card stack">
        <Logo />
        <h1>{t('sign.title')}</h1>
        {lost !== undefined && <RejectedKey service={lost} />}
        <p className="muted">{t('sign.text')}</p>
        <KeyForm />
      </section>
      <Preferences />
    </main>
  )
}
