//! JSON format of instances.
//!
//! ```json
//! {
//!   "nodes": [
//!     { "rule": { "source": 12 }, "limit": 26 },
//!     { "rule": { "sum": 0 }, "operands": [0, 0], "limit": 26, "site": 0 },
//!     { "rule": { "max": 1 }, "operands": [1, 0], "limit": 26, "site": 1 }
//!   ],
//!   "sites": [{ "cost": 1, "reset": 12 }, { "cost": 10, "reset": 12 }]
//! }
//! ```
//!
//! Operands and sites are indices from 0. `operands` may be omitted if there are none, `site` if no
//! reset is allowed, and `limit` if any noise is legal. Indices out of range, unknown keys and
//! numbers that do not fit are errors. A written instance is read back unchanged.

use serde::{Deserialize, Serialize};

use super::{Instance, Node, NodeData, NodeRule, NoiseBits, Site, SiteData};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct InstanceJson {
    nodes: Vec<NodeJson>,
    sites: Vec<SiteData>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct NodeJson {
    rule: NodeRule,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    operands: Vec<Node>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    limit: Option<NoiseBits>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    site: Option<Site>,
}

impl From<Instance> for InstanceJson {
    fn from(instance: Instance) -> Self {
        let node = |(v, data): (u32, &NodeData)| NodeJson {
            rule: data.rule,
            operands: instance.operands(Node(v)).to_vec(),
            limit: (data.limit != NoiseBits::MAX).then_some(data.limit),
            site: data.site,
        };
        let nodes = (0..).zip(&instance.nodes).map(node).collect();
        InstanceJson { nodes, sites: instance.sites }
    }
}

impl TryFrom<InstanceJson> for Instance {
    type Error = String;

    fn try_from(json: InstanceJson) -> Result<Self, String> {
        let (n_nodes, n_sites) = (json.nodes.len(), json.sites.len());
        let mut instance = Instance { sites: json.sites, ..Instance::default() };
        for (v, node) in json.nodes.into_iter().enumerate() {
            if let Some(operand) = node.operands.iter().find(|it| it.0 as usize >= n_nodes) {
                return Err(format!(
                    "node {v}: operand {} does not exist, because there are {n_nodes} nodes",
                    operand.0
                ));
            }
            if let Some(site) = node.site.filter(|it| it.0 as usize >= n_sites) {
                return Err(format!(
                    "node {v}: site {} does not exist, because there are {n_sites} sites",
                    site.0
                ));
            }
            let limit = node.limit.unwrap_or(NoiseBits::MAX);
            instance.push(node.rule, &node.operands, limit, node.site);
        }
        Ok(instance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_written_instances() {
        let mut instance = Instance::default();
        let a = instance.push(NodeRule::Source(12), &[], 26, None);
        let s = instance.push_site(3, 12);
        let b = instance.push(NodeRule::Sum(0), &[a, a], NoiseBits::MAX, Some(s));
        instance.push(NodeRule::Max(1), &[b, a], 26, Some(s));
        let text = serde_json::to_string(&instance).unwrap();
        assert_eq!(
            text,
            r#"{"nodes":[{"rule":{"source":12},"limit":26},{"rule":{"sum":0},"operands":[0,0],"site":0},{"rule":{"max":1},"operands":[1,0],"limit":26,"site":0}],"sites":[{"cost":3,"reset":12}]}"#
        );
        assert_eq!(serde_json::from_str::<Instance>(&text).unwrap(), instance);
    }

    #[test]
    fn rejects_malformed_instances() {
        let error = |text: &str| serde_json::from_str::<Instance>(text).unwrap_err().to_string();
        assert!(
            error(r#"{"nodes":[{"rule":{"max":1},"operands":[1]}],"sites":[]}"#)
                .contains("node 0: operand 1 does not exist")
        );
        assert!(
            error(r#"{"nodes":[{"rule":{"max":1},"site":0}],"sites":[]}"#)
                .contains("node 0: site 0 does not exist")
        );
        for bad in [
            "",
            "[]",
            r#"{"nodes":[]}"#,
            r#"{"nodes":[{"rule":{"min":1}}],"sites":[]}"#,
            r#"{"nodes":[{"rule":{"max":-1}}],"sites":[]}"#,
            r#"{"nodes":[{"rule":{"max":4294967296}}],"sites":[]}"#,
            r#"{"nodes":[],"sites":[{"cost":1}]}"#,
            r#"{"nodes":[],"sites":[],"more":1}"#,
        ] {
            error(bad);
        }
    }
}
