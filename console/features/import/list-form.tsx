import { Button } from '../../design/elements.tsx'
import { SelectField, TextField } from '../../design/field.tsx'
import { bytes, count, t, type TextKey } from '../../i18n/index.ts'
import { changeChoice, dropChoice, FORMATS, sendList, type ChosenList, type Window } from './imports.ts'
import { Outcome, useImports } from './past-imports.tsx'
import { isOpen } from '../work/jobs.ts'

const WINDOWS: Readonly<Record<Window, TextKey>> = {
  hour: 'import.hour',
  day: 'import.day',
  week: 'import.week',
  month: 'import.month',
}

const isKeyOf = <K extends string>(table: Readonly<Record<K, unknown>>, text: string): text is K =>
  text in table
const formats = ['', ...Object.keys(FORMATS)]
const windows = Object.keys(WINDOWS)

interface Props {
  readonly list: ChosenList
  readonly onSend: (work: () => Promise<void>) => void
}

/** How to read the chosen list, what importing it would change, and the buttons that send it. */
export function ListForm({ list, onSend }: Props) {
  const { file, format, window, source, previewId, sent } = list
  const preview = useImports().data?.find(({ id }) => id === previewId)
  const isSending = sent !== undefined
  const isSeen = preview?.state === 'done'
  // Another choice would change something else.
  const choose = (changes: Partial<ChosenList>) => changeChoice({ ...changes, previewId: undefined })
  return (
    <section className="stack wide-gap" aria-label={file.name}>
      <p>
        <strong>{file.name}</strong> <span className="muted figures">{bytes(file.size)}</span>
      </p>
      <fieldset className="import-fields row" disabled={isSending}>
        <SelectField
          label={t('import.format')}
          value={format ?? ''}
          options={formats}
          textOf={(one) => t(isKeyOf(FORMATS, one) ? FORMATS[one] : 'import.anyFormat')}
          onChange={(one) => choose({ format: isKeyOf(FORMATS, one) ? one : undefined })}
        />
        {format === 'deletions' && (
          <SelectField
            label={t('import.window')}
            value={window}
            options={windows}
            textOf={(one) => t(isKeyOf(WINDOWS, one) ? WINDOWS[one] : 'import.month')}
            onChange={(one) => isKeyOf(WINDOWS, one) && choose({ window: one })}
          />
        )}
        <TextField
          label={t('import.source')}
          hint={t('import.sourceHint')}
          placeholder={format === undefined ? '' : `${format}/${window}`}
          maxLength={100}
          value={source}
          onChange={(text) => choose({ source: text })}
        />
      </fieldset>
      {isSending && (
        <div className="stack tight" role="status">
          <progress max={1} value={sent} aria-label={t('import.sending', { name: file.name })} />
          <p className="muted figures">
            {sent === 1 ? t('import.checking') : t('import.sent', { n: count(Math.floor(sent * 100)) })}
          </p>
        </div>
      )}
      {preview !== undefined && (
        <section className="stack" aria-label={t('import.preview')} aria-busy={isOpen(preview)}>
          <h2>{t('import.preview')}</h2>
          <Outcome job={preview} />
        </section>
      )}
      <div className="row">
        <Button
          look={isSeen ? undefined : 'primary'}
          label={t('import.look')}
          disabled={isSending}
          onClick={() => onSend(() => sendList(true))}
        />
        <Button
          look={isSeen ? 'primary' : undefined}
          label={t('nav.import')}
          disabled={isSending}
          onClick={() => onSend(() => sendList(false))}
        />
        <Button label={t(isSending ? 'import.stop' : 'app.cancel')} onClick={dropChoice} />
      </div>
    </section>
  )
}
