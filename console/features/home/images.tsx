import { QueryError } from '../../design/query-result.tsx'
import { Tile } from '../../design/tile.tsx'
import { useUsage } from '../images/usage.ts'
import { bytes, count } from '../../i18n/index.ts'
import '../../i18n/texts/home.ts'

/** The storage used by the application's images. */
export function Images() {
  const usage = useUsage()
  const { data } = usage
  if (data === undefined) return <QueryError of={usage} />
  const room = data.max_bytes === null ? undefined : Math.max(0, data.max_bytes - data.bytes)
  if (data.images === 0 && room === undefined) return null
  return (
    <ul className="tiles">
      <Tile label="nav.images" value={count(data.images)} to="imagenes" />
      <Tile label="app.stored" value={bytes(data.bytes)} to="espacio" />
      {room !== undefined && <Tile label="home.room" value={bytes(room)} to="espacio" />}
    </ul>
  )
}
