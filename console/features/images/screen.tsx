import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo, useRef, useState } from 'react'
import { MAX_IMAGE_NAME_CHARACTERS } from '../../base/constants.ts'
import { usePermissions } from '../../api/scope.ts'
import { withParameters, navigate, changeQuery, replaceQuery, useRoute } from '../../base/router.ts'
import { useShortcuts } from '../../base/shortcuts.ts'
import { Button } from '../../design/button.tsx'
import { CopyButton } from '../../design/copy-button.tsx'
import { Loading, QueryError, Notice } from '../../design/notice.tsx'
import { Icon } from '../../design/icon.tsx'
import { t, tn } from '../../i18n/index.ts'
import '../../i18n/texts/images.ts'
import { Compare } from './near-duplicates.tsx'
import { DeleteDialog, deleteImages } from './delete-dialog.tsx'
import { Detail } from './detail.tsx'
import { DropZone, UploadList } from './upload-list.tsx'
import { FilterMenu, isFiltered } from './filter-menu.tsx'
import { linkOf, useGallery, type ImageRecord } from './gallery.ts'
import { Grid } from './grid.tsx'
import { useImageSelection } from './selection.ts'
import { addUploads, onUploaded } from './uploads.ts'
import './images.css'

export default function ImagesScreen() {
  const { query } = useRoute()
  const isLocked = !usePermissions()('changeImages')
  const search = query.get('search') ?? ''
  const open = query.get('imagen') || undefined
  const other = query.get('con') || undefined
  const isGrouped = query.has('agrupar')
  const gallery = useGallery(query)
  const { images, total, error, hasNextPage, isFetchingNextPage, fetchNextPage } = gallery
  const selection = useImageSelection(images)
  const { selected } = selection
  const [deleting, setDeleting] = useState<readonly ImageRecord[]>()
  const box = useRef<HTMLInputElement>(null)
  const picker = useRef<HTMLInputElement>(null)
  const queries = useQueryClient()
  useEffect(() => onUploaded(() => void queries.invalidateQueries({ queryKey: ['images'] })), [queries])

  const focusBox = (event: KeyboardEvent) => {
    event.preventDefault()
    box.current?.focus()
  }
  const close = () => navigate('imagenes', withParameters(query, { imagen: undefined, con: undefined }))
  /** After a comparison, the remaining image is shown. */
  const afterDeleting = (gone: readonly ImageRecord[]) => {
    const isGone = (hash: string | undefined) => gone.some((image) => image.hash === hash)
    if (other !== undefined && isGone(open))
      navigate('imagenes', withParameters(query, { imagen: other, con: undefined }))
    else if (isGone(other)) navigate('imagenes', withParameters(query, { con: undefined }))
    else if (isGone(open)) close()
  }
  /** For operations that end later, possibly at another image. */
  const leave = useRef(afterDeleting)
  leave.current = afterDeleting
  useShortcuts('images', {
    '/': focusBox,
    Escape: () => (open === undefined ? selection.clear() : close()),
  })
  const actions = useMemo(
    () => ({
      open: (image: ImageRecord) => navigate('imagenes', withParameters(query, { imagen: image.hash })),
      toggle: selection.toggle,
    }),
    [query, selection.toggle],
  )
  const place = images.findIndex(({ hash }) => hash === open)
  const fetchMore = () => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage()
  }
  const showAt = (index: number) => {
    const image = images[index]
    // Without a history entry: Back returns to the gallery.
    if (image !== undefined) replaceQuery(withParameters(query, { imagen: image.hash }))
    if (index >= images.length - 2) fetchMore()
  }
  const isNarrowed = isFiltered(query)

  return (
    <DropZone>
      <div className="gallery-tools row">
        <h1>{t('images.title')}</h1>
        <span className="muted figures" role="status">
          {total !== undefined && tn('images.count', total)}
        </span>
        <span className="grow" />
        <div className="query" role="search">
          <Icon name="search" />
          <input
            ref={box}
            className="input"
            type="search"
            aria-label={t('images.search')}
            placeholder={t('images.search')}
            value={search}
            maxLength={MAX_IMAGE_NAME_CHARACTERS}
            onChange={(event) =>
              changeQuery(withParameters(query, { search: event.target.value || undefined }))
            }
          />
        </div>
        <FilterMenu />
        <button
          type="button"
          className="chip"
          aria-pressed={isGrouped}
          onClick={() => navigate('imagenes', withParameters(query, { agrupar: isGrouped ? undefined : '' }))}
        >
          <Icon name="layers" />
          {t('images.group')}
        </button>
        <Button
          look="primary"
          icon="upload"
          label={t('images.upload')}
          disabled={isLocked}
          onClick={() => picker.current?.click()}
        />
        <input
          ref={picker}
          hidden
          type="file"
          multiple
          accept="image/*,.svg,.tif,.tiff,.heic,.heif"
          onChange={(event) => {
            addUploads(event.target.files ?? [])
            event.target.value = ''
          }}
        />
      </div>
      <UploadList />
      <QueryError of={gallery} />
      {gallery.isPending && error === null && <Loading />}
      {gallery.data !== undefined && images.length === 0 && (
        <Notice
          icon="images"
          title={t(isNarrowed ? 'images.noMatch' : 'images.empty')}
          {...(isNarrowed ? {} : { text: t('images.emptyText') })}
        />
      )}
      <Grid images={images} selected={selected} actions={actions} onEnd={fetchMore} />
      {selected.size > 0 && (
        <div
          className="selection fixed row floating"
          role="region"
          aria-label={tn('images.selected', selected.size)}
        >
          <strong className="figures">{tn('images.selected', selected.size)}</strong>
          <CopyButton
            text={[...selected.keys()].map((hash) => linkOf(hash)).join('\n')}
            label={t('images.copyLinks')}
          />
          <Button icon="download" label={t('images.download')} onClick={() => download(selected.values())} />
          <Button
            look="danger"
            icon="trash"
            label={t('images.delete')}
            disabled={isLocked}
            onClick={() => setDeleting([...selected.values()])}
          />
          <Button look="quiet" label={t('domains.clearSelection')} onClick={() => selection.clear()} />
        </div>
      )}
      {open !== undefined && other !== undefined && (
        <Compare
          key={`${open} ${other}`}
          hashes={[open, other]}
          onClose={close}
          onDelete={(image) => setDeleting([image])}
        />
      )}
      {open !== undefined && other === undefined && (
        <Detail
          hash={open}
          known={images[place]}
          onPrevious={place > 0 ? () => showAt(place - 1) : undefined}
          onNext={place >= 0 && place < images.length - 1 ? () => showAt(place + 1) : undefined}
          onClose={close}
          onDelete={(image) => setDeleting([image])}
        />
      )}
      {deleting !== undefined && (
        <DeleteDialog
          images={deleting}
          onClose={() => setDeleting(undefined)}
          onConfirm={() => {
            setDeleting(undefined)
            const wasSelected = deleting.filter(({ hash }) => selected.has(hash))
            selection.drop(deleting)
            deleteImages(deleting, (gone, kept) => {
              // Images that could not be deleted are selected again.
              selection.add(kept.filter((image) => wasSelected.includes(image)))
              leave.current(gone)
              void queries.invalidateQueries({ queryKey: ['images'] })
            })
          }}
        />
      )}
    </DropZone>
  )
}

/** Saves the originals under their names. */
function download(images: Iterable<ImageRecord>): void {
  for (const { hash, name } of images) {
    const anchor = document.createElement('a')
    anchor.href = linkOf(hash)
    anchor.download = name
    anchor.click()
  }
}
