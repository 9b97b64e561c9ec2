import { callApi } from '../../api/client.ts'
import { Button } from '../../design/elements.tsx'
import { CopyButton } from '../../design/copy-button.tsx'
import { Dialog, FormDialog, ConfirmDialog } from '../../design/dialog.tsx'
import type { Watch } from './watch.ts'
import { showOnce } from '../work/forms.tsx'
import { runOperation, toOperation } from '../work/operations.ts'
import { moment, t } from '../../i18n/index.ts'

/** Asks for confirmation, because its secret and feed address are lost. */
export function RemoveWatch({ watch, onClose }: { watch: Watch; onClose: () => void }) {
  const { id, name } = watch
  function remove() {
    runOperation(
      toOperation({
        service: 'domainwatch',
        subject: `watch:${id}`,
        pending: t('watch.removing', { name }),
        done: t('watch.removed', { name }),
        failed: (reason) => t('watch.removeFailed', { name, reason }),
        shownBy: ['watches'],
        send: (key) => callApi('DELETE /api/v1/domainwatch/watches', { query: { id }, key }),
      }),
    )
    onClose()
  }
  return (
    <ConfirmDialog
      title={t('watch.removeTitle', { name })}
      text={t('watch.removeText')}
      action={t('watch.remove')}
      onConfirm={remove}
      onClose={onClose}
    />
  )
}

/** Asks for confirmation, because receivers need the new secret, then shows it. */
export function RotateSecret({ watch, onClose }: { watch: Watch; onClose: () => void }) {
  const rotate = () =>
    showOnce('domainwatch', async () => {
      const query = { id: watch.id }
      const { data } = await callApi('POST /api/v1/domainwatch/watches/rotate', { query })
      return (close) => (
        <ShownOnce
          title={t('watch.isRotated')}
          note={t('watch.overlap', { date: moment(Date.parse(data.until_utc) / 1_000) })}
          shown={{ secret: data.secret, atom: null }}
          onClose={close}
        />
      )
    })
  return (
    <FormDialog
      title={t('watch.rotateTitle', { name: watch.name })}
      action={t('watch.rotate')}
      shownBy="watches"
      onSend={rotate}
      onClose={onClose}
    >
      <p>{t('watch.rotateText')}</p>
    </FormDialog>
  )
}

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
