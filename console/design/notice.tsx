import type { ReactNode } from 'react'
import { ConnectionError } from '../api/client.ts'
import { errorMessage } from '../api/error-message.ts'
import { t } from '../i18n/index.ts'
import { Button } from './button.tsx'
import { Icon, type IconName } from './icon.tsx'

/** Replaces missing content: nothing yet, nothing found, an error. */
export function Notice(props: { icon: IconName; title: string; text?: string; children?: ReactNode }) {
  return (
    <div className="notice">
      <Icon name={props.icon} />
      <h2>{props.title}</h2>
      {props.text !== undefined && <p>{props.text}</p>}
      {props.children}
    </div>
  )
}

/** An error with a button to try again. */
export function ErrorNotice({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  const isLost = error instanceof ConnectionError
  return (
    <div role="alert">
      <Notice
        icon="alert"
        title={t(isLost ? 'app.lostTitle' : 'app.failed')}
        text={isLost ? t('app.lost') : errorMessage(error)}
      >
        <Button label={t('app.retry')} onClick={onRetry} />
      </Notice>
    </div>
  )
}
