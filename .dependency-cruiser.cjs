// The one-way layers of ARCHITECTURE.md: domain ← ports ← use cases ← edges; adapters know ports and domain; only src/app
// puts them together. `npm run check` runs this.
const useCases = '^src/(notes|retrieval|guard|models|evaluation|jobs)/';

/** A layer may import itself and what is listed, nothing else of src. */
function layer(name, from, allowed) {
  return {
    name,
    severity: 'error',
    from: { path: from },
    to: { path: '^src/', pathNot: [from, ...allowed] },
  };
}

module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    // node:sqlite is younger than the oldest Node that is supported; it is loaded where it exists.
    { name: 'no-missing', severity: 'error', from: {}, to: { couldNotResolve: true, pathNot: '^node:sqlite$' } },
    layer('domain-is-pure', '^src/domain/', []),
    layer('ports-know-domain', '^src/ports/', ['^src/domain/']),
    layer('use-cases-know-ports', useCases, ['^src/(domain|ports)/']),
    layer('config-knows-domain', '^src/config/', ['^src/domain/']),
    // src/models holds the formats that the model adapters read: manifest, tokenizer, pooling.
    layer('adapters-know-ports', '^src/adapters/', ['^src/(domain|ports|models)/']),
    layer('graphql-knows-use-cases', '^src/graphql/', ['^src/(domain|ports)/', useCases]),
    layer('cli-knows-use-cases', '^src/cli/', ['^src/(domain|ports|config)/', useCases]),
    {
      name: 'domain-without-io',
      comment: 'Hashing is computing, not I/O.',
      severity: 'error',
      from: { path: '^src/domain/' },
      to: { pathNot: ['^src/domain/', '^(node:)?crypto$'] },
    },
    {
      name: 'adapters-apart',
      comment: 'Two technologies that know each other cannot be exchanged. Record forms are shared by the two stores.',
      severity: 'error',
      from: { path: '^src/adapters/([^/]+)/' },
      to: { path: '^src/adapters/', pathNot: ['^src/adapters/$1/', '^src/adapters/records/'] },
    },
    {
      name: 'product-without-tests',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^(test|bench|scripts)/' },
    },
    {
      name: 'no-development-packages',
      severity: 'error',
      from: { path: '^src/' },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg'], dependencyTypesNot: ['type-only'] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'types', 'default'] },
  },
};
