import { useState } from 'react'
import { callApi } from '../../api/client.ts'
import { FormDialog } from '../../design/dialog.tsx'
import { Check, SelectField } from '../../design/field.tsx'
import { showToast } from '../../design/toasts.tsx'
import { t, tn } from '../../i18n/index.ts'
import type { ImageRecord } from './gallery.ts'

/** Most bits of the dhash in which a banned picture differs. */
const DISTANCES = ['0', '4', '8'] as const

interface Props {
  readonly images: readonly ImageRecord[]
  readonly onTrash: () => void
  readonly onClose: () => void
}

/** Bans images, so that neither they nor pictures that look alike are uploaded again. */
export function BanDialog({ images, onTrash, onClose }: Props) {
  const [distance, setDistance] = useState<(typeof DISTANCES)[number]>('4')
  const [isTrashed, setTrashed] = useState(true)
  const ban = async () => {
    for (const { hash } of images)
      await callApi('POST /api/v1/imagestore/bans', { body: { hash, distance: Number(distance) } })
    showToast(tn('images.banned', images.length))
    if (isTrashed) onTrash()
  }
  return (
    <FormDialog
      title={tn('images.banTitle', images.length)}
      action={t('images.ban')}
      shownBy="images"
      onSend={ban}
      onClose={onClose}
    >
      <SelectField
        label={t('images.banDistance')}
        hint={t('images.banHint')}
        value={distance}
        options={DISTANCES}
        textOf={(one) => t(`images.banDistance.${one}`)}
        onChoose={setDistance}
      />
      <Check label={t('images.banTrash')} value={isTrashed} onChange={setTrashed} />
    </FormDialog>
  )
}
