import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo, useRef, useState } from 'react'
import { MAX_IMAGE_NAME_CHARACTERS, TRASH_DAYS } from '../../base/constants.ts'
import { usePermissions } from '../../api/scope.ts'
import { withParameters, navigate, changeQuery, replaceQuery, useRoute } from '../../base/router.ts'
import { once, useShortcuts } from '../../base/shortcuts.ts'
import { Button, Icon, Link } from '../../design/elements.tsx'
import { SearchBox } from '../../design/field.tsx'
import { Loading, QueryError, Notice } from '../../design/notice.tsx'
import { t, tn } from '../../i18n/index.ts'
import { Compare } from './compare.tsx'
import { DeleteDialog, SelectionBar, useImageSelection, moveImages, type Move } from './selection.tsx'
import { Detail } from './detail.tsx'
import { DropZone, UploadList, addUploads, onUploaded } from './uploads.tsx'
import { FilterMenu, isFiltered, loadTrash, useGallery, type ImageRecord } from './gallery.tsx'
import { GalleryMenu } from './gallery-menu.tsx'
import { Grid } from './grid.tsx'
import { undoLast } from '../work/operations.ts'
import { RequestButton } from '../../design/buttons.tsx'
import '../../i18n/texts/images.ts'
import './images.css'

export default function ImagesScreen() {
  const { query } = useRoute()
  const isLocked = !usePermissions()('changeImages')
  const search = query.get('search') ?? ''
  const open = query.get('imagen') || undefined
  const other = query.get('con') || undefined
  const isGrouped = query.has('agrupar')
  const isTrash = query.has('papelera')
  const gallery = useGallery(query)
  const { images, total, error, hasNextPage, isFetchingNextPage, fetchNextPage } = gallery
  const selection = useImageSelection(images)
  const { selected } = selection
  const [deleting, setDeleting] = useState<readonly ImageRecord[]>()
  const { clear } = selection
  useEffect(() => clear(), [isTrash, clear])
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
    z: once(undoLast),
    Escape: () => (open === undefined ? selection.clear() : close()),
  })
  const actions = useMemo(
    () => ({
      open: (image: ImageRecord) =>
        isTrash
          ? selection.toggle(image, false)
          : navigate('imagenes', withParameters(query, { imagen: image.hash })),
      toggle: selection.toggle,
    }),
    [query, isTrash, selection.toggle],
  )
  const move = (where: Move, some: readonly ImageRecord[]) => {
    const wasSelected = some.filter(({ hash }) => selected.has(hash))
    selection.drop(some)
    moveImages(where, some, (gone, kept) => {
      // Images that could not be moved are selected again.
      selection.add(kept.filter((image) => wasSelected.includes(image)))
      leave.current(gone)
    })
  }
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
        <h1>{t(isTrash ? 'images.trash' : 'nav.images')}</h1>
        <span className="muted figures" role="status">
          {total !== undefined && tn('images.count', total)}
        </span>
        <span className="grow" />
        <SearchBox
          ref={box}
          label={t('images.search')}
          value={search}
          maxLength={MAX_IMAGE_NAME_CHARACTERS}
          onChange={(text) => changeQuery(withParameters(query, { search: text || undefined }))}
        />
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
        {isTrash ? (
          <>
            <RequestButton
              icon="trash"
              label={t('images.emptyTrash')}
              disabled={isLocked || images.length === 0}
              onRequest={async () => setDeleting(await loadTrash())}
            />
            <Link to="imagenes" className="button">
              {t('images.backToGallery')}
            </Link>
          </>
        ) : (
          <>
            <Button
              look="primary"
              icon="upload"
              label={t('images.upload')}
              disabled={isLocked}
              onClick={() => picker.current?.click()}
            />
            <GalleryMenu isLocked={isLocked} />
          </>
        )}
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
      {isTrash && <p className="gallery-note muted">{t('images.trashText', { n: TRASH_DAYS })}</p>}
      <UploadList />
      <QueryError of={gallery} />
      {gallery.isPending && error === null && <Loading />}
      {gallery.data !== undefined && images.length === 0 && (
        <Notice
          icon={isTrash ? 'trash' : 'images'}
          title={t(isNarrowed ? 'images.noMatch' : isTrash ? 'images.trashEmpty' : 'images.empty')}
          {...(isNarrowed || isTrash ? {} : { text: t('images.emptyText') })}
        />
      )}
      <Grid images={images} selected={selected} actions={actions} onEnd={fetchMore} />
      {selected.size > 0 && (
        <SelectionBar
          images={[...selected.values()]}
          isTrash={isTrash}
          isLocked={isLocked}
          onMove={(where, some) => (where === 'delete' ? setDeleting(some) : move(where, some))}
          onClear={selection.clear}
        />
      )}
      {open !== undefined && other !== undefined && (
        <Compare
          key={`${open} ${other}`}
          hashes={[open, other]}
          onClose={close}
          onDelete={(image) => move('trash', [image])}
        />
      )}
      {open !== undefined && other === undefined && (
        <Detail
          hash={open}
          known={images[place]}
          onPrevious={place > 0 ? () => showAt(place - 1) : undefined}
          onNext={place >= 0 && place < images.length - 1 ? () => showAt(place + 1) : undefined}
          onClose={close}
          onDelete={(image) => move('trash', [image])}
        />
      )}
      {deleting !== undefined && (
        <DeleteDialog
          images={deleting}
          onClose={() => setDeleting(undefined)}
          onConfirm={() => {
            setDeleting(undefined)
            move('delete', deleting)
          }}
        />
      )}
    </DropZone>
  )
}
