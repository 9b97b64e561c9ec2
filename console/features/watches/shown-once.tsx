import { Button } from '../../design/button.tsx'
import { CopyButton } from '../../design/copy-button.tsx'
import { Dialog } from '../../design/dialog.tsx'
import { t } from '../../i18n/index.ts'

/** Values that the service returns only once. */
interface Shown {
  readonly secret: string | null
  /** The address of a feed. */
  readonly atom: string | null
}

/** Shows values that are returned only once. Closes only with its button, not by a click outside. */
export function ShownOnce(props: { title: string; note?: string; shown: Shown; onClose: () => void }) {
  const { title, note, shown, onClose } = props
  return (
    <Dialog title={title} isFirm onClose={onClose}>
      <p className="callout">{t('watch.once')}</p>
      {shown.secret !== null && <Value label={t('watch.secret')} text={shown.secret} />}
      {shown.atom !== null && <Value label={t('watch.feedAddress')} text={shown.atom} />}
      {note !== undefined && <p className="muted">{note}</p>}
      <div className="row end">
        <Button look="primary" label={t('watch.kept')} onClick={onClose} />
      </div>
    </Dialog>
  )
}

function Value({ label, text }: { label: string; text: string }) {
  return (
    <section className="stack" aria-label={label}>
      <h3>{label}</h3>
      <code className="address" translate="no">
        {text}
      </code>
      <div className="row">
        <CopyButton text={text} />
      </div>
    </section>
  )
}
