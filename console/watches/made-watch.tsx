import type { Operations } from '../api/schema.ts'
import { CopyButton, Dialog } from '../design/parts.tsx'
import { t } from '../i18n/index.ts'

export type Made = Operations['POST /api/v1/domainwatch/watches']['answer']

/** What the service shows once: it closes when the person says so, not by a press beside it. */
export function MadeWatch({ made, onClose }: { made: Made; onClose: () => void }) {
  return (
    <Dialog title={t('watch.isMade')} isFirm onClose={onClose}>
      <p className="callout">{t('watch.once')}</p>
      {made.secret !== null && <Shown label={t('watch.secret')} text={made.secret} />}
      {made.atom !== null && <Shown label={t('watch.feedAddress')} text={made.atom} />}
      <div className="row end">
        <button type="button" className="button primary" onClick={onClose}>
          {t('watch.kept')}
        </button>
      </div>
    </Dialog>
  )
}

function Shown({ label, text }: { label: string; text: string }) {
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
