import { callApi } from '../../api/client.ts'
import { IMAGE_TYPES, MAX_IMAGE_NAME_CHARACTERS, MAX_TICKET_USES } from '../../base/constants.ts'
import { serverNow } from '../../base/server.ts'
import { FormDialog, ShownOnce } from '../../design/dialog.tsx'
import { Check, SelectField, TextField } from '../../design/field.tsx'
import { moment, t } from '../../i18n/index.ts'
import { showOnce, unsentForms } from '../work/forms.tsx'
import './upload.css'

const MEGABYTE = 1_000_000
/** Seconds. */
const LIFETIMES = ['600', '3600', '86400'] as const

interface Fields {
  readonly seconds: (typeof LIFETIMES)[number]
  readonly uses: string
  /** Megabytes; empty for the limit of the service. */
  readonly largest: string
  /** None for all. */
  readonly types: readonly string[]
  readonly tags: string
  /** Empty for that of each file. */
  readonly name: string
  /** How long the images are kept; empty if they do not expire. */
  readonly days: string
}

const INITIAL: Fields = { seconds: '3600', uses: '1', largest: '', types: [], tags: '', name: '', days: '' }

const useFields = unsentForms<Fields>('imagestore')

/** Creates an address to which anybody can upload, and shows it, once. */
export function TicketDialog({ onClose }: { onClose: () => void }) {
  const { fields, bind, set, ...form } = useFields('ticket', INITIAL)
  const { seconds, uses, largest, types, tags, name, days } = fields
  const create = () =>
    showOnce('imagestore', async () => {
      const { data } = await callApi('POST /api/v1/imagestore/tickets', {
        body: {
          expires: Number(seconds),
          uses: Number(uses),
          max_bytes: largest === '' ? undefined : Math.floor(Number(largest) * MEGABYTE),
          types: types.join(',') || undefined,
          tags: tags || undefined,
          name: name || undefined,
          image_expires: days === '' ? undefined : Math.floor(serverNow() / 1_000) + Number(days) * 86_400,
        },
      })
      return (close) => (
        <ShownOnce
          title={t('images.ticketCreated')}
          text={t('images.ticketOnce', { until: moment(data.expires) })}
          secret={data.url}
          copyLabel={t('images.ticketCopy')}
          line={`curl --data-binary @foto.jpg -H 'Content-Type: image/jpeg' '${data.url}'`}
          onClose={close}
        />
      )
    })
  return (
    <FormDialog
      title={t('images.ticket')}
      action={t('app.create')}
      form={form}
      shownBy="images"
      onSend={create}
      onClose={onClose}
    >
      <p className="muted">{t('images.ticketText')}</p>
      <SelectField
        label={t('images.ticketExpires')}
        {...bind('seconds')}
        options={LIFETIMES}
        textOf={(one) => t(`images.ticketLasts.${one}`)}
      />
      <TextField
        label={t('images.ticketUses')}
        type="number"
        required
        min={1}
        max={MAX_TICKET_USES}
        step={1}
        {...bind('uses')}
      />
      <TextField
        label={t('images.ticketLargest')}
        type="number"
        min={0.001}
        step="any"
        placeholder={t('images.ticketNoLimit')}
        {...bind('largest')}
      />
      <fieldset className="ticket-types">
        <legend>{t('images.ticketTypes')}</legend>
        {IMAGE_TYPES.map((type) => (
          <Check
            key={type}
            label={type.replace(/^image\/|\+xml$/g, '')}
            value={types.includes(type)}
            onChange={(isOn) => set({ types: isOn ? [...types, type] : types.filter((one) => one !== type) })}
          />
        ))}
      </fieldset>
      <TextField label={t('images.tags')} placeholder={t('images.ticketTags')} {...bind('tags')} />
      <TextField
        label={t('images.ticketName')}
        placeholder={t('images.ticketOwnName')}
        maxLength={MAX_IMAGE_NAME_CHARACTERS}
        {...bind('name')}
      />
      <TextField
        label={t('images.ticketDays')}
        type="number"
        min={1}
        step={1}
        placeholder={t('images.ticketForever')}
        {...bind('days')}
      />
    </FormDialog>
  )
}
