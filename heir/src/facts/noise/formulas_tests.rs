use super::*;

fn model(model: NoiseModelName, text: &str) -> NoiseFormulas {
    NoiseFormulas::new(model, &SchemeParams::parse(text).unwrap()).unwrap()
}

const SMALL: &str = "<logN = 12, Q = [2147565569], P = [2147573761], plaintextModulus = 65537, encryptionTechnique = extended>";

#[test]
fn fresh_noise_equals_that_of_heir() {
    // HEIR annotates 27.00 bits for a fresh ciphertext with these parameters.
    let it = model(NoiseModelName::BgvWorstCase, SMALL);
    assert_eq!(format!("{:.2}", it.bits(it.fresh(0))), "27.00");
}

#[test]
fn the_inverse_error_function_inverts_known_values() {
    // erf(0.5) = 0.5204998778, erf(1) = 0.8427007929.
    for (x, y) in [(0.520_499_877_8, 0.5), (0.842_700_792_9, 1.0)] {
        assert!((erf_inv(x) - y).abs() < 1e-5, "erf_inv({x}) = {}", erf_inv(x));
    }
}

#[test]
fn every_model_is_monotone() {
    let text = "<logN = 13, Q = [1099511922689, 1099512004609, 1099512037377], P = [1099512053761], plaintextModulus = 65537>";
    for which in NoiseModelName::BGV.into_iter().chain(NoiseModelName::BFV) {
        let it = model(which, text);
        let mut a = it.fresh(2);
        let mut last = it.bits(a);
        for _ in 0..4 {
            let b = it.mul(a, a);
            assert!(it.bits(b) > last, "{}: a product has more noise", which.name());
            let sum = it.add(b, a);
            assert!(it.bits(sum) >= it.bits(b), "{}: a sum has more noise", which.name());
            let switched = it.switch_key(sum, 2);
            assert!(it.bits(switched) >= it.bits(sum), "{}: a key switch adds", which.name());
            (a, last) = (b, it.bits(b));
        }
    }
}
