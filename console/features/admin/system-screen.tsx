import { useQuery } from '@tanstack/react-query'
import { callApi } from '../../api/client.ts'
import { isClientError } from '../../api/query-client.ts'
import { QueryResult } from '../../design/query-result.tsx'
import { Icon } from '../../design/icon.tsx'
import { Tile } from '../../design/tile.tsx'
import { bytes, count, moment, t } from '../../i18n/index.ts'
import '../../i18n/texts/admin.ts'
import { Metrics } from './metrics.tsx'
import { Settings } from './settings.tsx'
import './admin.css'

const EVERY_MS = 10_000

/** The current state of the service. */
export default function SystemScreen() {
  const system = useQuery({
    queryKey: ['admin', 'system'],
    queryFn: async ({ signal }) => (await callApi('GET /api/v1/admin/system', { signal })).data,
    refetchInterval: ({ state }) => (isClientError(state.error) ? false : EVERY_MS),
  })
  return (
    <div className="page">
      <header>
        <h1>{t('nav.system')}</h1>
      </header>
      <QueryResult of={system}>
        {(data) => (
          <div className="admin-parts">
            <ul className="tiles">
              <Tile label="system.domains" value={count(data.domains)} />
              <Tile label="nav.images" value={count(data.images)} />
              <Tile label="app.stored" value={bytes(data.bytes)} />
            </ul>
            <section className="stack">
              <h2>{t('system.health')}</h2>
              <ul className="row">
                <Health name={`${t('system.database')} (${data.database})`} isWell={data.ready.database} />
                <Health name={`${t('system.blobs')} (${data.blobs})`} isWell={data.ready.blobs} />
              </ul>
              <dl className="facts">
                <dt>{t('system.version')}</dt>
                <dd className="mono">{data.version}</dd>
                <dt>{t('system.started')}</dt>
                <dd>{moment(data.started)}</dd>
                <dt>{t('system.timeZone')}</dt>
                <dd>{data.time_zone}</dd>
              </dl>
            </section>
            <Metrics figures={data.figures} />
            <Settings settings={data.settings} />
          </div>
        )}
      </QueryResult>
    </div>
  )
}

function Health({ name, isWell }: { name: string; isWell: boolean }) {
  return (
    <li className={isWell ? 'tag free' : 'tag danger'}>
      <Icon name={isWell ? 'check' : 'alert'} />
      {name}: {t(isWell ? 'system.answers' : 'system.silent')}
    </li>
  )
}
