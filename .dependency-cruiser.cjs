/** STYLE: arrows point inward. apps -> application -> the rules; adapters -> ports. No cycles. */
const only = (from, ...to) => ({
  name: `${from}-imports-only-${to.join('-') || 'nothing'}`,
  severity: 'error',
  from: { path: `^libs/${from}/src`, pathNot: '[.]spec[.]ts$' },
  to: { path: '^(libs|apps)/', pathNot: [`^libs/(${[from, ...to].join('|')})/`] },
});

module.exports = {
  forbidden: [
    { name: 'no-cycle', severity: 'error', from: {}, to: { circular: true } },
    { name: 'no-orphan-import', severity: 'error', from: {}, to: { couldNotResolve: true } },
    {
      name: 'the-rules-import-nothing',
      severity: 'error',
      from: { path: '^libs/(conversation|context|assistant|dialogue-state)/src', pathNot: '[.]spec[.]ts$' },
      to: { dependencyTypes: ['core', 'npm', 'npm-dev', 'npm-peer'] },
    },
    only('conversation'),
    only('assistant'),
    only('context', 'conversation', 'assistant'),
    only('platform'),
    only('event-store', 'conversation'),
    only('event-store-postgres', 'event-store', 'platform'),
    only('event-store-eventstoredb', 'event-store', 'platform'),
    only('providers', 'context', 'conversation', 'assistant', 'platform'),
    only('tools', 'assistant', 'platform'),
    only('read-models', 'conversation', 'assistant', 'context', 'event-store', 'platform'),
    only(
      'turns',
      'conversation',
      'assistant',
      'context',
      'event-store',
      'providers',
      'tools',
      'read-models',
      'platform',
    ),
    only('audit', 'conversation', 'assistant', 'context', 'event-store', 'read-models', 'providers', 'platform'),
    {
      name: 'application-knows-no-edge',
      severity: 'error',
      from: { path: '^libs/' },
      to: { path: '^apps/' },
    },
    {
      name: 'no-test-code-in-the-product',
      severity: 'error',
      from: { path: '^(apps|libs)/[^/]+/src', pathNot: '[.]spec[.]ts$' },
      to: { path: '(^test/|/testing/|/contract/|[.]spec[.]ts$)' },
    },
    {
      name: 'only-the-adapter-knows-pg-log',
      severity: 'error',
      from: { path: '^libs', pathNot: '^libs/(event-store-postgres|application)/' },
      to: { path: '^libs/event-store-postgres/src' },
    },
    {
      name: 'only-apps-choose-eventstoredb',
      severity: 'error',
      from: { path: '^libs', pathNot: '^libs/event-store-eventstoredb/' },
      to: { path: '^libs/event-store-eventstoredb/' },
    },
    {
      name: 'only-the-adapter-knows-the-client-of-eventstoredb',
      severity: 'error',
      from: { path: '^(apps|libs)/', pathNot: '^libs/event-store-eventstoredb/' },
      to: { path: '@eventstore/db-client' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['require', 'node', 'default', 'types'] },
  },
};
