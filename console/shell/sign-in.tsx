import { errorMessage } from '../api/error-message.ts'
import { ProxyLogin, proxySession, signInAgain } from '../api/proxy-session.ts'
import { rejectedService } from '../api/session.ts'
import { HAS_PROXY_SIGN_IN } from '../base/server.ts'
import { Button } from '../design/elements.tsx'
import { Spinner } from '../design/notice.tsx'
import { t } from '../i18n/index.ts'
import KeyForm, { RejectedKey } from './key-form.tsx'
import { Logo, Preferences } from './session-menu.tsx'
import { useStore } from '../base/store.ts'
import '../i18n/texts/sign-in.ts'

export default function SignIn() {
  return (
    <main className="sign-in">
      <section className="sign-card stack">
        <Logo />
        <h1>{t('sign.title')}</h1>
        {HAS_PROXY_SIGN_IN ? <ByProxy /> : <ByKey />}
      </section>
      <Preferences />
    </main>
  )
}

function ByKey() {
  const lost = useStore(rejectedService)
  return (
    <>
      {lost !== undefined && <RejectedKey service={lost} />}
      <p className="muted">{t('sign.text')}</p>
      <KeyForm />
    </>
  )
}

/** The progress of the sign-in by the proxy. A key is of use only if it failed. */
function ByProxy() {
  const session = useStore(proxySession)
  if (session.state === 'failed') {
    const { error } = session
    const reason = error instanceof ProxyLogin ? t('sign.proxyAway') : errorMessage(error)
    return (
      <>
        <p className="callout danger" role="alert">
          {t('sign.byProxy', { reason })}
        </p>
        <Button look="primary" label={t('sign.again')} onClick={signInAgain} />
        <p className="muted">{t('sign.orKey')}</p>
        <KeyForm />
      </>
    )
  }
  if (session.state === 'signed-out') {
    return (
      <>
        <p className="muted">{t('sign.out')}</p>
        <Button look="primary" label={t('sign.again')} onClick={signInAgain} />
      </>
    )
  }
  return (
    <p role="status">
      <Spinner /> {t('sign.opening')}
    </p>
  )
}
