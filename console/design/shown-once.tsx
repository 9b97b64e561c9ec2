import { t } from '../i18n/index.ts'
import { Button } from './button.tsx'
import { CopyButton } from './copy-button.tsx'
import { Dialog } from './dialog.tsx'

interface Props {
  readonly title: string
  readonly text: string
  readonly secret: string
  readonly copyLabel: string
  /** A command that uses it. */
  readonly line: string
  readonly onClose: () => void
}

/** A secret that the service returns only once. Only its buttons close it. */
export function ShownOnce({ title, text, secret, copyLabel, line, onClose }: Props) {
  return (
    <Dialog title={title} isFirm onClose={onClose}>
      <p className="callout">{text}</p>
      <code className="secret" translate="no">
        {secret}
      </code>
      <div className="row">
        <CopyButton text={secret} label={copyLabel} />
        <CopyButton text={line} label={t('app.curl')} isPlain />
      </div>
      <code className="address">{line}</code>
      <div className="row end">
        <Button look="primary" label={t('app.kept')} onClick={onClose} />
      </div>
    </Dialog>
  )
}
